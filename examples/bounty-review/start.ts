// `npm run example bounty [ADDRESS]`: judges local submissions, or that address with a provider's key. With
// REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET it reads Reddit as an application.
import { chooseModel } from '@baton/models/choose-model'
import { createPriceOf } from '@baton/models/prices'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { startLocalBounty } from './local-bounty.ts'
import { reviewSubmission } from './review.ts'
import { createScriptedReviewer } from './scripted-reviewer.ts'

const [address] = process.argv.slice(3)
const { REDDIT_CLIENT_ID: clientId, REDDIT_CLIENT_SECRET: clientSecret } = process.env
const { id: model, reason } = chooseModel({ variables: process.env })
const isScripted = model.startsWith('offline')
if (address !== undefined && isScripted) {
  console.error('A script plays the model, and it knows the local submissions only: set the key of a provider.')
  process.exit(2)
}
console.log(isScripted ? 'A script plays the model.' : `${model} judges (${reason}).`)

async function decide(question: string): Promise<'approve' | 'deny'> {
  if (!process.stdin.isTTY) {
    console.log(`  ${question}: there is no person to approve it`)
    return 'deny'
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const said = await terminal.question(`  ${question}? (y/n) `)
  terminal.close()
  return /^y/i.test(said) ? 'approve' : 'deny'
}

const local = await startLocalBounty()
const app = clientId !== undefined && clientSecret !== undefined ? { clientId, clientSecret } : {}
const folder = await mkdtemp(join(tmpdir(), 'bounty-review-'))
const submissions = address === undefined ? Object.entries(local.submissions) : [['submission', address] as const]
try {
  for (const [id, submission] of submissions) {
    console.log(`\n${submission}`)
    const { verdict, evidence, usage, exported } = await reviewSubmission({
      ...local,
      ...(address !== undefined && { content: { reddit: app } }),
      model: isScripted ? createScriptedReviewer(local.bounty) : model,
      id,
      submission,
      decide,
      priceOf: createPriceOf(),
      onCall: (line) => console.log(`  ${line}`),
    })
    const file = join(folder, `${id}.jsonl`)
    await writeFile(file, exported.join('\n'))
    console.log(`  ${verdict.verdict} (${verdict.confidence}): ${verdict.reasons.join('; ')}`)
    console.log(`  because of ${evidence.join(', ')}`)
    console.log(`  ${usage.costMicros ?? 0} millionths of a dollar; every call is in ${file}`)
  }
} finally {
  await local.close()
}
