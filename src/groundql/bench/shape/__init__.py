"""What programs are made of: operators, signatures, skeletons, complexity; slices and statistics drawn from them."""
