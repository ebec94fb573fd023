// The name of the host's own tool, which no tool of an agent may have.

/** The tool that reads the rest of a long result; the host adds it. */
export const RESERVED_NAME = 'result.read'
