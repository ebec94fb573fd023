// Generates the table of model traits in docs/models.md from the table that the adapters read.
import { TRAITS_TABLE } from '../packages/models/src/traits/find-traits.ts'
import type { ModelTraits, ThinkingTraits, TraitsRow } from '../packages/models/src/traits/model-traits.ts'
import { withGeneratedPart } from './generated-part.ts'

/** The page docs/models.md with the table from the code; the rest of the page is written by hand. */
export function modelsPage(): string {
  return withGeneratedPart('docs/models.md', 'traits', traitsTable())
}

const HEAD = [
  'Models',
  'Window',
  'Output',
  'Thoughts',
  'Unasked',
  'Sampling',
  'Forced calls',
  'Typed answers',
  'Checked',
]

function traitsTable(): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(HEAD), line(HEAD.map(() => '---')), ...TRAITS_TABLE.map((row) => line(buildRow(row)))].join('\n')
}

function buildRow({ name, checked, traits }: TraitsRow): readonly string[] {
  return [
    name,
    describeCount(traits.contextTokens, 'listed'),
    describeCount(traits.outputTokens, ''),
    describeThinking(traits.thinking),
    describeUnasked(traits.thinking),
    SAMPLING[traits.sampling],
    FORCING[traits.forcing],
    OUTPUT[traits.output],
    checked,
  ]
}

function describeCount(tokens: number | undefined, unknown: string): string {
  return tokens === undefined ? unknown : tokens.toLocaleString('en-US')
}

function describeThinking({ kind, efforts, budget }: ThinkingTraits): string {
  const words = efforts.map((effort) => `\`${effort}\``).join(' ')
  if (kind === 'budget' && budget)
    return `budget from ${budget.least}${budget.most < 1e9 ? ` to ${budget.most.toLocaleString('en-US')}` : ''} tokens`
  return { none: 'none', untold: 'its own choice', budget: 'budget', switch: 'on or off' }[kind as 'none'] ?? words
}

/** The setting that is sent when thinking is not requested. */
function describeUnasked({ kind, off, efforts }: ThinkingTraits): string {
  if (kind === 'none') return ''
  if (off === 'never')
    return kind === 'untold'
      ? 'thinks; room is reserved'
      : `thinks: ${efforts[0] === undefined ? 'smallest budget' : `\`${efforts[0]}\``}`
  return {
    absent: 'off',
    none: 'off: `none`',
    disabled: 'off: `disabled`',
    'between-tools': 'between calls only',
    zero: 'off: budget 0',
  }[off]
}

const SAMPLING: Readonly<Record<ModelTraits['sampling'], string>> = {
  free: 'yes',
  unthinking: 'only without thinking',
  one: 'only without thinking, one of the two',
  refused: 'no',
}
const FORCING: Readonly<Record<ModelTraits['forcing'], string>> = {
  always: 'yes',
  unthinking: 'only without thinking',
  never: 'requested in the prompt',
}
const OUTPUT: Readonly<Record<ModelTraits['output'], string>> = {
  native: 'native',
  'without-tools': 'native without tools',
  none: 'in the prompt',
}
