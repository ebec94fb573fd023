// Builds the console's page: scripts, styles and icon under names with hashes of their content, and an index without inline
// code. `node packages/console/build-page.ts` writes it to dist/page; tests and programs that run from source take it
// from `buildPage`.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'

const SOURCE = join(import.meta.dirname, 'page')

export interface PageFile {
  readonly type: string
  readonly text: string
}

/** The files by their paths below the page: `index.html`, and `assets/…` whose names change with their content. */
export async function buildPage(): Promise<ReadonlyMap<string, PageFile>> {
  const style = nameByContent('page', 'css', withoutComments(readPart('page.css')))
  const icon = nameByContent('icon', 'svg', readPart('icon.svg'))
  const scripts = await bundleScripts()
  const [[main] = []] = scripts
  if (main === undefined) throw new Error('the page has no script')
  const index = readPart('index.html')
    .replace('page.css', style.path)
    .replace('icon.svg', icon.path)
    .replace('main.tsx', main)
  return new Map([
    ['index.html', { type: 'text/html; charset=utf-8', text: index }],
    [style.path, { type: 'text/css; charset=utf-8', text: style.text }],
    [icon.path, { type: 'image/svg+xml', text: icon.text }],
    ...scripts.map(([path, text]) => [path, { type: 'text/javascript; charset=utf-8', text }] as const),
  ])
}

/** The entry first. */
async function bundleScripts(): Promise<readonly (readonly [path: string, code: string])[]> {
  const build = await rolldown({
    input: { page: join(SOURCE, 'main.tsx') },
    platform: 'browser',
    resolve: { conditionNames: ['@baton/source', 'import', 'default'] },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    onwarn: (warning) => {
      throw new Error(warning.message)
    },
  })
  const { output } = await build.generate({
    format: 'esm',
    minify: true,
    entryFileNames: 'assets/[name]-[hash].js',
    chunkFileNames: 'assets/[name]-[hash].js',
  })
  await build.close()
  return output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code] as const] : []))
}

function nameByContent(
  name: string,
  extension: string,
  text: string,
): { readonly path: string; readonly text: string } {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 8)
  return { path: `assets/${name}-${hash}.${extension}`, text }
}

function withoutComments(css: string): string {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\n\s*/g, '\n')
    .replaceAll(/\n+/g, '\n')
    .trim()
}

function readPart(name: string): string {
  return readFileSync(join(SOURCE, name), 'utf8')
}

/** Replaces the contents of `folder`. */
export async function writePage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = await buildPage()
  rmSync(folder, { recursive: true, force: true })
  for (const [path, { text }] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return files
}

if (process.argv[1] === import.meta.filename) await writePage(join(import.meta.dirname, 'dist/page'))
