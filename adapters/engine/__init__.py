"""What brings rows back to attention. `local` does it in the one process that holds the file."""
