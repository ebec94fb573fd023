// The page as it is shipped: small, with hashed names, and without code or styles inside of its HTML.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildPage } from '../build-page.ts'

const COMPRESSED_BYTES_MAX = 80 * 1024

test('no part of the page writes HTML', () => {
  const parts = readdirSync(import.meta.dirname).filter((name) => /\.tsx?$/.test(name) && !name.includes('.test'))
  expect(parts.length).toBeGreaterThan(20)
  const writers = parts.filter((name) =>
    /innerHTML|outerHTML|insertAdjacent|document\.write|createContextualFragment|srcdoc/i.test(
      readFileSync(join(import.meta.dirname, name), 'utf8'),
    ),
  )
  expect(writers).toEqual([])
})

test('the page is small, names its files by their content, and has no inline code', async () => {
  const files = await buildPage()
  const sizes = [...files].map(([path, { text }]) => [path, gzipSync(text).length] as const)
  const sum = sizes.reduce((all, [, bytes]) => all + bytes, 0)
  console.info(`console: ${sum} bytes compressed: ${sizes.map((one) => one.join(' ')).join(', ')}`)
  expect(sum).toBeLessThan(COMPRESSED_BYTES_MAX)
  const index = files.get('index.html')?.text ?? ''
  for (const path of files.keys()) {
    if (path === 'index.html') continue
    expect(path).toMatch(/^assets\/[a-z]+-[\w-]{8}\.(?:js|css|svg)$/)
    expect(index).toContain(`"${path}"`)
  }
  expect(index).not.toMatch(/<style|style=|<script(?![^>]* src=)|https?:|\son[a-z]+=/)
  const script = [...files].find(([path]) => path.endsWith('.js'))?.[1].text ?? ''
  expect(/\beval\(|new Function/.test(script)).toBe(false)
  expect(await buildPage()).toEqual(files)
})
