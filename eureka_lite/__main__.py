"""`python -m eureka_lite`."""

from eureka_lite.cli import main

main()
