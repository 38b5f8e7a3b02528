"""The learner: population PPO, networks, normalizers, policies; pure torch."""
