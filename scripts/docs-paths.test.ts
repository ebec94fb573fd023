// Every repository path that a page names exists, and the generated pages are up to date.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findStalePages } from './docs.ts'
import { REPOSITORY } from './source-files.ts'

const ROOT_PAGES = ['README.md', 'AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'REVIEW.md', 'SECURITY.md']
const EXAMPLES = readdirSync(join(REPOSITORY, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const FOLDERS = ['packages', 'apps', 'scripts', 'docs', 'examples', 'bench', '.ci', '.github']

function pages(): readonly string[] {
  const inDocs = readdirSync(join(REPOSITORY, 'docs'), { recursive: true, encoding: 'utf8' })
  const ofExamples = ['', ...EXAMPLES].map((folder) => join('examples', folder, 'README.md'))
  const docs = inDocs.filter((path) => path.endsWith('.md')).map((path) => join('docs', path))
  return [...ROOT_PAGES, ...docs, ...ofExamples].filter((path) => existsSync(join(REPOSITORY, path)))
}

test('the page of the examples names each of their folders', () => {
  const page = readFileSync(join(REPOSITORY, 'examples/README.md'), 'utf8')
  expect(EXAMPLES.filter((folder) => !page.includes(`](${folder}`))).toEqual([])
})

/** Paths in backticks that begin with one of our folders, and pages at the root. Excludes patterns and placeholders. */
function namedPaths(text: string): readonly string[] {
  const quoted = [...text.matchAll(/`([^`\s]+)`/g)].map(([, inside = '']) => inside.replace(/:\d+$/, ''))
  return quoted.filter((path) => {
    if (!/^[\w@.][\w@./-]*$/.test(path)) return false
    const [folder = ''] = path.split('/')
    return path.includes('/') ? FOLDERS.includes(folder) : /^[A-Z]+\.md$/.test(path)
  })
}

test('paths that pages name exist', () => {
  const missing = pages().flatMap((page) =>
    namedPaths(readFileSync(join(REPOSITORY, page), 'utf8'))
      .filter((path) => !existsSync(join(REPOSITORY, path)))
      .map((path) => `${page}: ${path}`),
  )
  expect(missing).toEqual([])
})

test('relative links of pages lead somewhere', () => {
  const missing = pages().flatMap((page) => {
    const links = [...readFileSync(join(REPOSITORY, page), 'utf8').matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
    return links
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(REPOSITORY, page, '..', target)))
      .map((target) => `${page}: ${target}`)
  })
  expect(missing).toEqual([])
})

/** The anchors of a page's headings. */
function listAnchors(page: string): readonly string[] {
  const text = readFileSync(page, 'utf8').replace(/^```[^]*?^```/gm, '')
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  )
}

test('links to a part of a page lead to one of its headings', () => {
  const missing = pages().flatMap((page) => {
    const links = [...readFileSync(join(REPOSITORY, page), 'utf8').matchAll(/\]\(([\w./-]*\.md)?#([^)\s]+)\)/g)]
    return links
      .filter(([, target, anchor = '']) => {
        const file = join(REPOSITORY, target === undefined ? page : join(page, '..', target))
        return existsSync(file) && !listAnchors(file).includes(anchor)
      })
      .map(([link]) => `${page}: ${link}`)
  })
  expect(missing).toEqual([])
})

test('generated pages are up to date', async () => {
  expect((await findStalePages()).map(({ path }) => path)).toEqual([])
})

test('what looks like a path of ours', () => {
  const text =
    '`packages/core` `docs/errors.md:12` `AGENTS.md` `packages/*/src` `packages/<name>` `node_modules/x` `a/b` `npm run check` `x.ts`'
  expect(namedPaths(text)).toEqual(['packages/core', 'docs/errors.md', 'AGENTS.md'])
})
