"""`python -m remanence_server.cli`, for where the console script is not on the path."""

import sys

from remanence_server.cli.main import main

sys.exit(main())
