"""What the program tells over HTTP about itself: health, readiness, metrics."""
