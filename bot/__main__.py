"""`python -m bot` is `watchkeeper`."""

from bot.cli import main

main()
