// The list of files that are neither built nor published: the build excludes them, and each manifest names them in `files`.

/** Globs below a package, as `exclude` of a TypeScript configuration and, with a leading `!`, as `files` of a manifest. */
export const NOT_PACKED = [
  'src/**/*.test.ts',
  'src/**/*.test-kit.ts',
  'src/**/*-situations.ts',
  'src/**/__snapshots__',
] as const
