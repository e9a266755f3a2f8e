"""Own cases: any file of requests or conversations with the calls that are expected is a benchmark."""
