// The tool that looks for malicious text in a submission. It reads the submission itself, so that the model cannot leave
// anything out.
import { tool } from '@baton/host'
import { z } from 'zod'
import { findContent } from './content.ts'

const RULES = [
  { category: 'orders', pattern: /\b(ignore|forget)\b[^.]{0,40}\binstructions\b/i },
  { category: 'secrets', pattern: /\b(password|api key|seed phrase)\b/i },
  { category: 'script', pattern: /<script\b|javascript:/i },
] as const

export const scanText = tool({
  name: 'scan_text_for_malicious_content',
  description: 'Says whether the text of a submission tries to give orders, to get at secrets, or to run code',
  input: z.object({ id: z.string() }),
  output: z.object({
    verdict: z.enum(['clean', 'malicious']),
    categories: z.array(z.string()),
    evidence: z.array(z.string()),
  }),
  effect: 'pure',
  execute: ({ id }) => {
    const { text } = findContent(id)
    const found = RULES.flatMap(({ category, pattern }) => {
      const [words] = pattern.exec(text) ?? []
      return words === undefined ? [] : [{ category, words }]
    })
    return {
      verdict: found.length === 0 ? ('clean' as const) : ('malicious' as const),
      categories: found.map(({ category }) => category),
      evidence: found.map(({ words }) => words),
    }
  },
})
