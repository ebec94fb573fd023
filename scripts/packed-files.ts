// The list of files that are neither built nor published: the build excludes them, and each manifest lists them in
// `files`.

/**
 * Globs below a package, for `exclude` in a TypeScript configuration and, with a leading `!`, for `files` in a
 * manifest.
 */
export const NOT_PACKED = [
  'src/**/*.test.ts',
  'src/**/*.test-kit.ts',
  'src/**/*-situations.ts',
  'src/**/__snapshots__',
] as const
