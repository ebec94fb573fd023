// Worker thread that reads one page and ends.
import { parentPort, workerData } from 'node:worker_threads'
import type { HtmlReply, HtmlRequest } from './html-page.ts'
import { readHtml } from './read-html.ts'

async function read(request: HtmlRequest): Promise<HtmlReply> {
  try {
    return { ok: true, page: await readHtml(request) }
  } catch (thrown) {
    return { ok: false, why: thrown instanceof Error ? thrown.message.slice(0, 200) : 'unknown' }
  }
}

parentPort?.postMessage(await read(workerData as HtmlRequest)) // from html-thread.ts
