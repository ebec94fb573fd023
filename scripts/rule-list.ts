// Rules stated in comments at branches, each with a mistake that breaks it and the test that detects it (`npm run
// mutants`), and comments that only explain. `node scripts/rules.ts` prints comments that are not listed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Rule {
  readonly file: string
  /** The comment, with its lines joined. */
  readonly rule: string
  /** Occurs in the file exactly once. */
  readonly from: string
  readonly to: string
  /** `name`: words from the test's name, if only a part of the file is to run. */
  readonly test: { readonly file: string; readonly name?: string }
}

/** A comment that contains a word of a rule but does not state one. */
export interface Explanation {
  readonly file: string
  readonly rule: string
  readonly why: string
}

interface RuleList {
  readonly rules: readonly Rule[]
  readonly explanations: readonly Explanation[]
  /** Rules whose mutant is not detected by a test yet. */
  readonly unplayed: readonly Pick<Explanation, 'file' | 'rule'>[]
}

const list = JSON.parse(readFileSync(join(import.meta.dirname, 'rules.json'), 'utf8')) as RuleList // as the file is written

export const RULES = list.rules
export const EXPLANATIONS = list.explanations
export const UNPLAYED = list.unplayed
