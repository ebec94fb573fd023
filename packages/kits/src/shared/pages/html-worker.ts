// Worker thread that reads one page and ends.
import { parentPort, workerData } from 'node:worker_threads'
import type { HtmlReply, HtmlRequest } from './html-page.ts'
import { readHtml } from './read-html.ts'

async function read(request: HtmlRequest): Promise<HtmlReply> {
  try {
    return { ok: true, page: await readHtml(request) }
  } catch (thrown) {
    return { ok: false, why: thrown instanceof Error ? describe(thrown) : 'unknown' }
  }
}

/** Names the optional peer that is missing, with the command that installs it. */
function describe({ message }: Error): string {
  const [, missing] = /^Cannot find package '([^']+)'/.exec(message) ?? []
  if (missing === undefined) return message.slice(0, 200)
  return `its main part needs the package ${missing}, which is not installed: npm install ${missing}`
}

parentPort?.postMessage(await read(workerData as HtmlRequest)) // from html-thread.ts
