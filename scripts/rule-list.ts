// Rules that comments at branches state, each with a mistake that breaks it and the test that notices (`npm run mutants`), and the
// comments that only explain. `node scripts/rules.ts` prints those that stand in no list.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Rule {
  readonly file: string
  /** The comment, its lines joined. */
  readonly rule: string
  /** Stands in the file once. */
  readonly from: string
  readonly to: string
  /** `name`: words of the test's name, if the whole file is not to run. */
  readonly test: { readonly file: string; readonly name?: string }
}

/** A comment with a word of a rule that states none. */
export interface Explanation {
  readonly file: string
  readonly rule: string
  readonly why: string
}

interface RuleList {
  readonly rules: readonly Rule[]
  readonly explanations: readonly Explanation[]
  /** Rules whose mistake no test was seen to notice yet. */
  readonly unplayed: readonly Pick<Explanation, 'file' | 'rule'>[]
}

const list = JSON.parse(readFileSync(join(import.meta.dirname, 'rules.json'), 'utf8')) as RuleList // as the file is written

export const RULES = list.rules
export const EXPLANATIONS = list.explanations
export const UNPLAYED = list.unplayed
