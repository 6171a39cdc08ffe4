"""The waist of the hourglass: run folders on disk, written by trainings and importers, read by analyses."""
