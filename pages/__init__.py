"""The pages. Each is thin: frame, pick, ask one service, empty case, show. No arithmetic, no file access."""
