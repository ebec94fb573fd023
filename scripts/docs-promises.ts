// Generates docs/promises.md from the ledger (scripts/promises.json): which test plays which sentence of which page.
import type { Ledger } from './promises.ts'
import { readLedger, splitTest, WITNESSES } from './promises.ts'

export function promisesPage(ledger: Ledger = readLedger()): string {
  const kept = Object.entries(ledger.sentences).map(([page, entries]) => ({
    page,
    rows: entries.flatMap((entry) => ('promises' in entry ? [entry] : [])),
  }))
  const sentences = kept.reduce((sum, { rows }) => sum + rows.length, 0)
  const marked = Object.values(ledger.sentences).reduce((sum, entries) => sum + entries.length, 0)
  const promises = Object.entries(ledger.promises).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `# Promises, and the tests that play them

<!-- Generated from scripts/promises.json by \`npm run docs\`. Do not edit. -->

Sentences of the README, the pages and the packages' READMEs that say "never", "always", "at most", "at least", "once", "survives", "until", "is refused" or a bound with a unit, each with the promises
that it makes. The tests of each promise are listed [below](#tests), with how they observe it. \`npm run docs:check\` fails for a sentence without a promise or a reason for having none, for a
promise without a test, and for a test that does not exist. Generated pages are left out: their text comes from code.

${kept
  .filter(({ rows }) => rows.length > 0)
  .map(
    ({ page, rows }) =>
      `## ${page}\n\n| Sentence | Promises |\n|---|---|\n${rows.map((row) => `| ${cell(row.sentence)} | ${row.promises.map((id) => `\`${id}\``).join(', ')} |`).join('\n')}`,
  )
  .join('\n\n')}

## Tests

Situations (\`*-situations.ts\`, \`store-contract.ts\`) are played by the tests of each kind of host or store.

| Promise | Seen in | Played by |
|---|---|---|
${promises.map(([id, { witness, tests }]) => `| \`${id}\` | ${witness} | ${tests.map(describeTest).join('<br>')} |`).join('\n')}

## Counts

${sentences} sentences make ${promises.length} promises. Another ${marked - sentences} sentences with such words do not make a promise: they describe other software, instructions or the meaning of a name; scripts/promises.json gives the reason for each.

| Seen in | Is | Promises |
|---|---|---|
${Object.entries(WITNESSES)
  .map(
    ([name, meaning]) => `| ${name} | ${meaning} | ${promises.filter(([, { witness }]) => witness === name).length} |`,
  )
  .join('\n')}
${listUncovered(ledger)}`
}

function describeTest(test: string): string {
  const { file, title } = splitTest(test)
  return `${cell(title)} (\`${file.replace(/^packages\//, '')}\`)`
}

function listUncovered({ notYetCovered }: Ledger): string {
  const pages = Object.entries(notYetCovered)
  if (pages.length === 0) return ''
  const rows = pages.map(([page, count]) => `| ${page} | ${count} |`)
  return `\nNot yet covered:\n\n| Page | Sentences |\n|---|---|\n${rows.join('\n')}\n`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('$', '&#36;')
}
