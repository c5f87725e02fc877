"""The machine the program itself runs on: its clock and its source of chance."""
