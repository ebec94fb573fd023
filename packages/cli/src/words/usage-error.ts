// The error for wrong usage of a command.

/** Wrong usage: one line, and exit code 2. */
export class UsageError extends Error {}
