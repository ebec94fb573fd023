// What a person who asked wrongly is told.

/** The command was asked wrongly: one line, and exit code 2. */
export class UsageError extends Error {}
