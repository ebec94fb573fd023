// The issue solver in a real browser: the plan is shown, and an approval closes the issue.
import { expect, test } from 'vitest'
import { openBrowser, say } from '../chat-web/chat-web.test-kit.ts'
import { startSolver } from './solver.ts'

const { hasBrowser, openPage, closers } = openBrowser()

test.skipIf(!hasBrowser)('a plan is shown, and the issue is closed when a person allows it', async () => {
  const solver = await startSolver()
  closers.push(solver.stop)
  const page = await openPage(solver.url)
  await say(page, 'Solve the issue.')
  await page.getByRole('list', { name: 'Plan' }).getByText('Find where the cart is kept').waitFor()
  await page.getByText('a plan of 3 steps').waitFor()
  await say(page, 'Close it.')
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('The issue is closed.').waitFor()
  expect(solver.github?.issue('acme/shop', 1)).toMatchObject({
    state: 'closed',
    comments: [{ author: 'you', body: 'Solved by the plan above.' }],
  })
})
