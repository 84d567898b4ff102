"""Studies on real predictions: how far figures depend on the protocol, on the stored data, and on luck."""
