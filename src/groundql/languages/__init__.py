"""Program text to programs and back, what programs claim, and whether they may run."""
