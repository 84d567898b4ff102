"""From stored data to what a solver is told: catalog, value index, witnesses, card."""
