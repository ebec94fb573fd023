// Every page has its place in the page order, and everything derived from that order is complete.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLlmsFull, createLlmsIndex, CONTRIBUTOR_PAGES, leaveRepository, PAGE_GROUPS } from './docs-pages.ts'
import { REPOSITORY } from './source-files.ts'

const listed = PAGE_GROUPS.flatMap(({ pages }) => pages)

test('each page of docs/ stands in the order once', () => {
  const pages = readdirSync(join(REPOSITORY, 'docs')).filter((name) => name.endsWith('.md') && name !== 'index.md')
  expect([...listed, ...CONTRIBUTOR_PAGES].toSorted()).toEqual(pages.map((name) => name.slice(0, -3)).toSorted())
})

test('the list for language models has each page for users with what it is about', () => {
  const index = createLlmsIndex()
  for (const name of listed) expect(index).toMatch(new RegExp(`^- \\[.+\\]\\(${name}\\.md\\): \\S.{20,}$`, 'm'))
  expect(index.match(/^- \[/gm)).toHaveLength(listed.length)
  expect(index).not.toMatch(/```|<!--|execute: \(/)
})

test('the text for language models has each page whole', () => {
  const full = createLlmsFull()
  for (const name of listed) {
    const blocks = readFileSync(join(REPOSITORY, 'docs', `${name}.md`), 'utf8').match(/^```[^]*?^```$/gm) ?? []
    expect(full).toContain(`<!-- ${name}.md -->`)
    for (const block of blocks) expect(full).toContain(block)
  }
})

test('links out of the pages become words', () => {
  const text =
    'See [a](writing-tools.md#x), [b](../bench/README.md), [c](https://example.org), [d](#here), [e](architecture.md#y).'
  expect(leaveRepository(text)).toBe(text.replace('[b](../bench/README.md)', 'b'))
  expect(leaveRepository(text, new Set(['writing-tools']))).toBe(
    'See [a](writing-tools.md#x), b, [c](https://example.org), [d](#here), e.',
  )
})

/** Pages in docs/ that a page links to. */
function listLinks(path: string): readonly string[] {
  const text = readFileSync(join(REPOSITORY, path), 'utf8').replace(/^```[^]*?^```$/gm, '')
  const links = text.matchAll(/\]\((?:docs\/)?([\w-]+)\.md(?:#[^)]*)?\)/g)
  return [...links].map(([, name = '']) => name).filter((name) => listed.includes(name))
}

test('each page for users is two clicks away from the README at most', () => {
  const first = listLinks('README.md')
  const reached = new Set([...first, ...first.flatMap((name) => listLinks(`docs/${name}.md`))])
  expect(listed.filter((name) => !reached.has(name))).toEqual([])
})
