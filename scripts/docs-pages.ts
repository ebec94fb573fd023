// The pages in docs/ in reading order: the site's sidebar, llms.txt and the packed pages are derived from it.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-files.ts'

export interface PageGroup {
  readonly title: string
  /** File names in docs/ without `.md`, in order. */
  readonly pages: readonly string[]
}

export const PAGE_GROUPS: readonly PageGroup[] = [
  { title: 'Start', pages: ['getting-started', 'library', 'concepts'] },
  {
    title: 'Build an agent',
    pages: [
      'writing-tools',
      'tools',
      'mcp',
      'openapi-tools',
      'cursor-agents',
      'coding-sessions',
      'github',
      'moderation',
      'content',
      'web',
      'vision',
      'ai-sdk-tools',
      'effect',
      'mcp-server',
      'sub-agents',
      'background',
      'other-agents',
      'events',
      'outside',
      'notices',
      'slack',
      'client-tools',
      'approvals',
      'structured-output',
      'context',
      'media',
      'error-handling',
    ],
  },
  {
    title: 'Keep and test it',
    pages: ['persistence', 'sessions', 'testing-your-agent', 'observability', 'cookbook'],
  },
  { title: 'Models', pages: ['models', 'providers'] },
  {
    title: 'Run it for others',
    pages: [
      'embedding',
      'client',
      'client-models',
      'voice-web',
      'chat',
      'editors',
      'cli',
      'serving',
      'console',
      'temporal',
      'scaling',
      'security',
      'reliability',
      'protocol-2',
      'protocol-2-reference',
      'protocol',
    ],
  },
  { title: 'Come from elsewhere', pages: ['comparison', 'migrating-from-ai-sdk', 'migrating-from-pi'] },
  {
    title: 'Five systems on Baton',
    pages: ['voice-conductor', 'listening-agent', 'issue-solver', 'temporal-orchestrator', 'workspace-explorer'],
  },
  { title: 'Reference', pages: ['errors', 'log', 'workspace-tools', 'performance', 'glossary', 'naming'] },
]

/** Pictures that pages show. */
export const PICTURES: readonly string[] = [
  'concepts.svg',
  'trace.svg',
  'reconnect.svg',
  'chat-desktop.png',
  'chat-phone.png',
  'voice-desktop.png',
  'voice-phone.png',
  'console-timeline.png',
  'console-inbox.png',
]

/** Pages for people who work on Baton: last on the site, and not packed. */
export const CONTRIBUTOR_PAGES: readonly string[] = ['architecture', 'mutation', 'promises']

export interface Page {
  readonly name: string
  /** The first heading. */
  readonly title: string
  /** Whole sentences of the first paragraph as plain text: at least one, and together at most `SUMMARY_CHARS`. */
  readonly summary: string
  readonly text: string
}

/** @throws Error for a page that is missing, or has no heading or first paragraph */
export function readPage(name: string): Page {
  const text = readFileSync(join(REPOSITORY, 'docs', `${name}.md`), 'utf8')
  const title = /^# (.+)$/m.exec(text)?.[1]
  const paragraphs = text.replace(/^```[^]*?^```$/gm, '').split(/\n{2,}/)
  const first = paragraphs.map((paragraph) => paragraph.trim()).find((paragraph) => /^[\p{L}`*]/u.test(paragraph))
  if (title === undefined || first === undefined) throw new Error(`docs/${name}.md lacks a title or a first paragraph`)
  return { name, title, summary: shorten(toPlainText(first)), text }
}

const SUMMARY_CHARS = 200

function shorten(paragraph: string): string {
  const sentences = paragraph.split(/(?<=[.?!])\s/)
  const whole = sentences.reduce((text, sentence) =>
    text.length + sentence.length < SUMMARY_CHARS ? `${text} ${sentence}` : text,
  )
  return whole.replace(/:$/, '.')
}

function toPlainText(markdown: string): string {
  return markdown
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
}

/** The list of all pages for a language model: title, address relative to the list, and first paragraph. */
export function createLlmsIndex(): string {
  const groups = PAGE_GROUPS.map(({ title, pages }) => {
    const lines = pages.map(readPage).map((page) => `- [${page.title}](${page.name}.md): ${page.summary}`)
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  return `# Baton\n\n> ${PURPOSE}\n\n${groups.join('\n')}`
}

const PURPOSE =
  'A TypeScript library for agents that call tools. One pure state machine settles every tool call once, whatever ' +
  'disconnects, times out or crashes; hosts, clients and models do the work.'

/** All pages in one text, for a language model that reads everything. */
export function createLlmsFull(): string {
  const pages = PAGE_GROUPS.flatMap(({ pages: names }) => names.map(readPage))
  return pages.map(({ name, text }) => `<!-- ${name}.md -->\n\n${leaveRepository(text).trim()}\n`).join('\n---\n\n')
}

/**
 * A page as it appears outside the repository: links to files that are not pages become plain text. `kept` are the
 * pages next to it; if absent, all of docs/.
 */
export function leaveRepository(text: string, kept?: ReadonlySet<string>): string {
  return text.replace(/(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)/g, (link, label: string, to: string) => {
    const isPage = /^[\w-]+\.md$/.test(to) && (kept === undefined || kept.has(to.slice(0, -3)))
    return isPage || (kept === undefined && /^decisions(\/[\w.-]+)?$/.test(to)) ? link : label
  })
}

/** Writes the user pages into a pack, with `llms.txt` as their list, for programs that write code. */
export function writePackedPages(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const names = new Set(PAGE_GROUPS.flatMap(({ pages }) => pages))
  for (const name of names) writeFileSync(join(folder, `${name}.md`), leaveRepository(readPage(name).text, names))
  for (const picture of PICTURES) cpSync(join(REPOSITORY, 'docs', picture), join(folder, picture))
  writeFileSync(join(folder, 'llms.txt'), createLlmsIndex())
}
