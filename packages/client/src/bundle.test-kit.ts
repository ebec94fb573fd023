// Bundles code for tests as a page would load it: a few lines with all their imports.
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

export interface Bundle {
  /** Code of each file by name; the entry is `entry.js`. */
  readonly files: Readonly<Record<string, string>>
  /** Packages of the repository in the bundle. */
  readonly packages: ReadonlySet<string>
  /** Modules left to the page's loader. */
  readonly imports: readonly string[]
}

/** @throws Error if an import cannot be resolved */
export async function bundleForPage(code: string, minify: boolean): Promise<Bundle> {
  const entry = fileURLToPath(new URL('./entry.js', import.meta.url))
  const build = await rolldown({
    input: { entry },
    platform: 'browser',
    resolve: { conditionNames: ['@baton/source', 'import', 'default'] },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? code : undefined),
      },
    ],
    onwarn: (warning) => {
      throw new Error(warning.message)
    },
  })
  const { output } = await build.generate({
    format: 'esm',
    minify,
    comments: !minify,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  })
  await build.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  const names = new Set(chunks.map(({ fileName }) => fileName))
  const places = chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => /packages\/(\w+)\//.exec(id)?.[1] ?? id))
  return {
    files: Object.fromEntries(chunks.map((chunk) => [chunk.fileName, chunk.code])),
    packages: new Set(places.filter((place) => !place.startsWith('\0'))),
    imports: chunks.flatMap(({ imports }) => imports).filter((name) => !names.has(name)),
  }
}
