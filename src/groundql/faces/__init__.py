"""Views over the same verbs: the command line and the Python client. Faces decide nothing."""
