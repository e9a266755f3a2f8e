"""What a run leaves on the disk: its folder, its segments of recorded replies, and how they are read back."""
