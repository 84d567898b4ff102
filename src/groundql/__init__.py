"""Ask document databases in plain English; get a verified read-only query, its rows, and the evidence for both."""
