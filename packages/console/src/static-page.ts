// The built page as answers: exact content types, a strict content security policy, and assets that browsers keep by their
// hashed names. Everything is read once; no request names a file.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** Answers for a path below the page's address; undefined if the page has no such file. */
export type StaticPage = (request: Request, path: string) => Response | undefined

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** Sources are this server alone: no inline script, no other origin, and no page may frame it. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** Bytes of a file of the page, so that a wrong folder is noticed. */
const FILE_BYTES_MAX = 4 * 1024 * 1024

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly tag: string
}

/** Reads the page; without one, every address says how to build it. */
export function readStaticPage(folder: string): StaticPage {
  const files = readFiles(folder)
  if (!files.has('')) return (_request, path) => (path === '' ? answerUnbuilt() : undefined)
  return ({ headers, method }, path) => {
    const file = files.get(path)
    if (!file) return undefined
    const kept = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const told = { ...HEADERS, 'content-type': file.type, 'cache-control': kept, etag: file.tag }
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
    if (headers.get('if-none-match') === file.tag) return new Response(null, { status: 304, headers: told })
    return new Response(method === 'HEAD' ? null : file.bytes, { headers: told })
  }
}

/** By path; the page itself has the empty one. */
function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const path of listFiles(folder)) {
    const bytes = Uint8Array.from(readFileSync(join(folder, path)))
    const type = TYPES[extname(path)]
    if (type === undefined || bytes.byteLength > FILE_BYTES_MAX) continue
    const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
    files.set(path === 'index.html' ? '' : path, { bytes, type, tag })
  }
  return files
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        join(parentPath, name)
          .slice(folder.length + 1)
          .replaceAll('\\', '/'),
      )
  } catch {
    return []
  }
}

const UNBUILT =
  'The page of the console was not built. In a checkout of Baton, run "npm run build"; a published package has it.\n'

function answerUnbuilt(): Response {
  return new Response(UNBUILT, { status: 503, headers: { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' } })
}
