"""The simulation: engine, liquid, randomization and disturbances, as one World."""
