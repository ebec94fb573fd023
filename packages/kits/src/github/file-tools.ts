// Files and branches of a repository.
import { Buffer } from 'node:buffer'
import { BatonError, tool } from '@baton/core'
import * as z from 'zod'
import { cutWindow } from '../shared/pages/text-window.ts'
import type { GithubKit } from './github-kit.ts'
import { branch, nameRepository, nextPage, page, repository } from './github-kit.ts'

/** Maximum UTF-16 units of one page of a file. */
const PAGE_CHARS = 32_000
const WRITTEN_CHARS = 500_000

const path = z
  .string()
  .max(4096)
  .refine(
    (given) => given.split('/').every((part) => !/^\.{1,2}$/.test(part)),
    'it must not contain "." or ".." as a path segment',
  )
const filePath = path.min(1).refine((given) => !/^\/|\/$/.test(given), 'it must neither start nor end with a slash')
const ref = branch.optional().describe('Branch, tag or commit; the default branch if omitted')

const wireEntry = z.looseObject({
  name: z.string(),
  path: z.string(),
  type: z.string(),
  size: z.int(),
  sha: z.string(),
})
const wireFile = wireEntry.extend({ encoding: z.string(), content: z.string() })
const wireRef = z.looseObject({ object: z.looseObject({ sha: z.string() }) })

export function fileTools(kit: GithubKit) {
  return [listTool(kit), readTool(kit), writeTool(kit), ...branchTools(kit)]
}

function listTool({ api, start, reads }: GithubKit) {
  return tool({
    ...reads,
    name: 'github.list_files',
    title: 'List files',
    kind: 'read',
    description: 'Lists one folder of a GitHub repository.',
    describe: (input) => ({ title: `List ${nameRepository(input)}/${input.path}` }),
    input: z.object({ ...repository, path: path.default('').describe('Folder; the root if empty'), ref }),
    output: z.object({
      entries: z.array(z.object({ name: z.string(), path: z.string(), type: z.string(), bytes: z.int() })),
      truncated: z.boolean().describe('GitHub lists at most 1,000 entries of a folder'),
    }),
    execute: async ({ path: folder, ref: at, ...input }, context) => {
      const route = 'GET /repos/{owner}/{repo}/contents/{path}'
      const asked = { ...input, path: folder.replaceAll(/^\/+|\/+$/g, ''), ...(at !== undefined && { ref: at }) }
      const found = await api.ask(route, asked, z.union([z.array(wireEntry), wireEntry]), await start(context))
      if (!Array.isArray(found)) throw refuse(`${folder} is a file; read it with github.read_file`)
      const entries = found.map(({ name, path: its, type, size: bytes }) => ({ name, path: its, type, bytes }))
      return { entries, truncated: entries.length >= 1000 }
    },
  })
}

function readTool({ api, start, reads }: GithubKit) {
  return tool({
    ...reads,
    name: 'github.read_file',
    title: 'Read a file',
    kind: 'read',
    description: 'Reads a text file of a GitHub repository, up to 1 MB.',
    describe: (input) => ({ title: `Read ${nameRepository(input)}/${input.path}` }),
    input: z.object({
      ...repository,
      path: filePath.describe('File path, from the root of the repository'),
      ref,
      startLine: z.int().min(1).default(1).describe('First line to read'),
      startChar: z.int().min(0).default(0).describe('Where to start in that line, as reported in "next"'),
    }),
    output: z.object({
      path: z.string(),
      sha: z.string().describe('For github.write_file'),
      startLine: z.int(),
      startChar: z.int(),
      text: z.string(),
      lines: z.int().describe('Number of lines in the whole file'),
      truncated: z.boolean(),
      next: z
        .object({ startLine: z.int(), startChar: z.int() })
        .optional()
        .describe('Arguments to change to continue reading. startChar is 0 unless a line is longer than a page'),
    }),
    execute: async ({ startLine, startChar, ref: at, ...input }, context) => {
      const route = 'GET /repos/{owner}/{repo}/contents/{path}'
      const asked = { ...input, ...(at !== undefined && { ref: at }) }
      const found = await api.ask(
        route,
        asked,
        z.union([wireFile, z.array(wireEntry), wireEntry]),
        await start(context),
      )
      if (Array.isArray(found)) throw refuse(`${input.path} is a folder; list it with github.list_files`)
      if (found.type !== 'file') throw refuse(`${input.path} is a ${found.type}, not a file`)
      const file = wireFile.safeParse(found)
      // Larger files have the encoding "none": https://docs.github.com/en/rest/repos/contents#get-repository-content
      if (!file.success || file.data.encoding !== 'base64')
        throw refuse(`${input.path} has ${found.size} bytes; GitHub returns files up to 1 MB`)
      const lines = decodeText(file.data.content, input.path).split('\n')
      const { text, next } = takePage(lines, startLine, startChar)
      return {
        path: found.path,
        sha: found.sha,
        startLine,
        startChar,
        text,
        lines: lines.length,
        truncated: next !== undefined,
        ...(next && { next }),
      }
    },
  })
}

/** Returns the lines that fit. Only a first line that is longer than a page is divided. */
function takePage(lines: readonly string[], startLine: number, startChar: number) {
  const first = cutWindow(lines[startLine - 1] ?? '', startChar, PAGE_CHARS)
  if (first.nextChar !== undefined) return { text: first.text, next: { startLine, startChar: first.nextChar } }
  let { text } = first
  let line = startLine + 1
  for (const more of lines.slice(startLine)) {
    if (text.length + 1 + more.length > PAGE_CHARS) break
    text += `\n${more}`
    line += 1
  }
  return { text, next: line <= lines.length ? { startLine: line, startChar: 0 } : undefined }
}

function decodeText(content: string, named: string): string {
  const bytes = Buffer.from(content, 'base64')
  if (bytes.includes(0)) throw refuse(`${named} is a binary file of ${bytes.length} bytes`)
  return bytes.toString('utf8')
}

function writeTool({ api, start, writes }: GithubKit) {
  return tool({
    ...writes,
    name: 'github.write_file',
    title: 'Write a file',
    kind: 'edit',
    description:
      'Creates or replaces a text file on a branch of a GitHub repository, in one commit. To replace a file, read it first and pass its sha.',
    describe: (input) => ({
      title: `Write ${nameRepository(input)}/${input.path} on ${input.branch}`,
      destination: `${nameRepository(input)} ${input.branch}`,
    }),
    input: z.object({
      ...repository,
      path: filePath.describe('File path, from the root of the repository'),
      branch: branch.describe('An existing branch'),
      content: z.string().max(WRITTEN_CHARS).describe('The complete file'),
      message: z.string().min(1).max(2000).describe('Commit message'),
      sha: z
        .string()
        .regex(/^[0-9a-f]{40,64}$/)
        .optional()
        .describe('The sha of the file to replace, as returned by github.read_file; omit for a new file'),
    }),
    output: z.object({ path: z.string(), sha: z.string(), commit: z.string() }),
    execute: async ({ content, sha, ...input }, context) => {
      const wireCommit = z.looseObject({
        content: z.looseObject({ path: z.string(), sha: z.string() }),
        commit: z.looseObject({ sha: z.string() }),
      })
      const body = { content: Buffer.from(content, 'utf8').toString('base64'), ...(sha !== undefined && { sha }) }
      const route = 'PUT /repos/{owner}/{repo}/contents/{path}'
      const written = await api.ask(route, { ...input, ...body }, wireCommit, await start(context))
      return { path: written.content.path, sha: written.content.sha, commit: written.commit.sha }
    },
  })
}

function branchTools({ api, start, reads, writes }: GithubKit) {
  const wireBranch = z.looseObject({
    name: z.string(),
    protected: z.boolean(),
    commit: z.looseObject({ sha: z.string() }),
  })
  return [
    tool({
      ...reads,
      name: 'github.list_branches',
      title: 'List branches',
      kind: 'fetch',
      description: 'Lists the branches of a GitHub repository.',
      describe: (input) => ({ title: `List branches of ${nameRepository(input)}` }),
      input: z.object({ ...repository, page }),
      output: z.object({
        branches: z.array(z.object({ name: z.string(), commit: z.string(), isProtected: z.boolean() })),
        nextPage,
      }),
      execute: async (input, context) => {
        const route = 'GET /repos/{owner}/{repo}/branches'
        const { items, ...rest } = await api.page(route, input, z.array(wireBranch), await start(context))
        const branches = items.map((one) => ({
          name: one.name,
          commit: one.commit.sha,
          isProtected: one.protected,
        }))
        return { branches, ...rest }
      },
    }),
    tool({
      ...writes,
      name: 'github.create_branch',
      title: 'Create a branch',
      kind: 'edit',
      description: 'Creates a branch in a GitHub repository, at the latest commit of another branch.',
      describe: (input) => ({
        title: `Create branch ${input.branch} in ${nameRepository(input)}`,
        destination: nameRepository(input),
      }),
      input: z.object({
        ...repository,
        branch: branch.describe('Name of the new branch'),
        from: branch.optional().describe('The branch to start from; the default branch if omitted'),
      }),
      output: z.object({ branch: z.string(), commit: z.string(), from: z.string() }),
      execute: async ({ owner, repo, branch: name, from }, context) => {
        const asking = await start(context)
        const wireRepository = z.looseObject({ default_branch: z.string() })
        const base =
          from ?? (await api.ask('GET /repos/{owner}/{repo}', { owner, repo }, wireRepository, asking)).default_branch
        const read = 'GET /repos/{owner}/{repo}/git/ref/{ref}'
        const { object } = await api.ask(read, { owner, repo, ref: `heads/${base}` }, wireRef, asking)
        const made = { owner, repo, ref: `refs/heads/${name}`, sha: object.sha }
        await api.ask('POST /repos/{owner}/{repo}/git/refs', made, wireRef, asking)
        return { branch: name, commit: object.sha, from: base }
      },
    }),
  ]
}

function refuse(message: string): BatonError {
  return new BatonError({ code: 'tool_failed', message })
}
