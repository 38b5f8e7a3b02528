"""The worker process: training and measuring, asked over a pipe."""
