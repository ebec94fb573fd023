// Pages in docs/ that are partly generated: the part between two marks.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-files.ts'

const END = '<!-- end generated -->'

/** The page with `part` after `<!-- generated: NAME -->`; the rest is unchanged. */
export function withGeneratedPart(path: string, name: string, part: string): string {
  const begin = `<!-- generated: ${name} -->`
  const [before, rest] = readFileSync(join(REPOSITORY, path), 'utf8').split(begin)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`${path} lacks "${begin}" or "${END}"`)
  return `${before}${begin}\n\n${part}\n\n${END}${after}`
}

/** The page with the captured session, read from the file `path`, in place of its current one. */
export function withCapture(page: string, path: string, session: string): string {
  const shown = `<!-- capture: ${path} -->\n\`\`\`text\n${session}\`\`\`\n<!-- end capture -->`
  return page.replace(/<!-- capture: [^]*<!-- end capture -->/, () => shown)
}
