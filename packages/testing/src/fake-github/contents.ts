// Files of the fake GitHub: reading folders and files, and writing files.
import type { JsonValue } from '@baton/core'
import type { Asked, Reply } from './operations.ts'
import { refuse, textIn } from './operations.ts'
import type { Repository } from './repositories.ts'
import { shaOfBlob, shaOfBranch } from './repositories.ts'

/** Maximum bytes of a file whose content is included in the answer: https://docs.github.com/en/rest/repos/contents */
const INLINE_BYTES = 1024 * 1024

export function readContents(asked: Asked, { branches }: Repository): Reply {
  const files = branches.get(asked.query.get('ref') ?? 'main')
  if (!files) return refuse(404, `No commit found for the ref ${asked.query.get('ref')}`)
  const path = (asked.values['path'] ?? '').replace(/^\/|\/$/g, '')
  const content = files.get(path)
  if (content) {
    const isInline = content.length <= INLINE_BYTES
    return {
      status: 200,
      body: {
        ...describe(asked, path, content),
        encoding: isInline ? 'base64' : 'none',
        content: isInline ? content.toString('base64').replaceAll(/.{60}/g, '$&\n') : '',
      },
    }
  }
  const begin = path === '' || path === '.' ? '' : `${path}/`
  const inside = [...files].filter(([name]) => name.startsWith(begin))
  if (inside.length === 0) return refuse(404, 'Not Found')
  const names = [...new Set(inside.map(([name]) => name.slice(begin.length).split('/')[0] ?? ''))].toSorted()
  return {
    status: 200,
    body: names.map((name) => {
      const own = files.get(begin + name)
      return own
        ? describe(asked, begin + name, own)
        : { ...describe(asked, begin + name, Buffer.alloc(0)), type: 'dir' }
    }),
  }
}

export function writeContents(asked: Asked, { branches }: Repository): Reply {
  const sha = textIn(asked, 'sha')
  const branch = textIn(asked, 'branch') || 'main'
  const files = branches.get(branch)
  if (!files) return refuse(404, `Branch ${branch} not found`)
  const { path = '' } = asked.values
  const before = files.get(path)
  if (before && sha === '') return refuse(422, `Invalid request.\n\n"sha" wasn't supplied.`)
  if (before && sha !== shaOfBlob(before)) return refuse(409, `${path} does not match ${sha}`)
  const written = Buffer.from(textIn(asked, 'content'), 'base64')
  files.set(path, written)
  const status = before ? 200 : 201
  const example = asked.example(status) as { readonly commit: { readonly [name: string]: JsonValue } } // matches its schema
  const commit = { ...example.commit, sha: shaOfBranch(files), message: asked.body['message'] ?? '' }
  return { status, body: { content: describe(asked, path, written), commit } }
}

function describe({ origin }: Asked, path: string, content: Buffer) {
  const url = `${origin}/contents/${path}`
  return {
    type: 'file',
    size: content.length,
    name: path.split('/').at(-1) ?? '',
    path,
    sha: shaOfBlob(content),
    url,
    git_url: url,
    html_url: url,
    download_url: url,
    _links: { self: url, git: url, html: url },
  }
}
