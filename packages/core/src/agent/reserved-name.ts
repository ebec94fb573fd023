// Names that programs may not use: of the host's own tool, and of child sessions.

/** The tool that reads the rest of a long result; the host adds it. */
export const RESERVED_NAME = 'result.read'

/** Names of the sessions of delegated calls begin like this; hosts make them. */
export const CHILD_PREFIX = 'baton.child.'
