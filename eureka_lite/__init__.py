"""eureka-lite designs reward functions for robot learning."""

__version__ = "0.1.0"
