"""Sessions as environments: units that a policy is trained on, with the benchmark's own rules as reward."""
