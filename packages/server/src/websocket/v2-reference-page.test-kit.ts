// Requests in docs/protocol-2-reference.md: the codes that refuse each, and the fields of its answer.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PAGE = readFileSync(fileURLToPath(new URL('../../../../docs/protocol-2-reference.md', import.meta.url)), 'utf8')

const section = (title: string): string => PAGE.split(`### ${title}\n`)[1]?.split(/\n##+ /)[0] ?? ''

/** The codes that the page lists for a request, and those for all requests. */
export function listCodes(type: string): readonly string[] {
  const rows = `${section(`\`${type}\``)}\n${section('Refusals of every request')}`
  const refused = rows.split('| Refused with | If |').slice(1).join('\n')
  return [...refused.matchAll(/^\| `(\w+)` \|/gm)].map(([, code = '']) => code)
}

/** The kinds of requests in the page's first table. */
export function listKinds(): readonly string[] {
  return [...rowsOfKinds()].map(([, kind = '']) => kind)
}

/** The fields of an `ok`, with a question mark behind those that may be absent. */
export function listAnswerFields(type: string): readonly string[] {
  const [, , fields = ''] = [...rowsOfKinds()].find(([, kind]) => kind === type) ?? []
  return [...fields.matchAll(/`(\w+)`(\?)?/g)].map(([, name = '', mark = '']) => `${name}${mark}`)
}

function rowsOfKinds(): IterableIterator<RegExpExecArray> {
  return PAGE.matchAll(/^\| \[`([\w.]+)`\]\(#\w+\) \| (.*?) \| /gm)
}
