// LiteLLM's proxy, an OpenAI-compatible server that nobody of this project wrote, on a free port of the loopback interface.
// BATON_LITELLM names its command, or it is on the PATH; `pip install 'litellm[proxy]'` brings it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../free-port.ts'
import { findProgram } from '../program.ts'
import { startCommand } from '../start-command.ts'

/** A name that the proxy offers, and the server behind it. */
export interface LiteLlmModel {
  readonly name: string
  /** `anthropic/claude-sonnet-4-5`: LiteLLM's own provider and the model that it asks there. */
  readonly model: string
  /** Address of the server behind the proxy. */
  readonly baseUrl: string
  readonly apiKey: string
}

export interface LiteLlm {
  /** For OPENAI_BASE_URL. */
  readonly url: string
  /** The only key that the proxy takes. */
  readonly key: string
  close(): Promise<void>
}

const KEY = 'sk-the-master-key-of-this-test-proxy-7f3a'
const STARTING_MS = 120_000
const LOOK_EVERY_MS = 200

/**
 * The path of the command; undefined when there is none: then `warn` is told what will not be tested.
 * @throws Error where BATON_LITELLM names no executable file, and where there is none but BATON_TEST_REQUIRE is `all`
 */
export function findLiteLlm(what: string, warn: (message: string) => void): string | undefined {
  return findProgram(what, { title: 'LiteLLM', variable: 'BATON_LITELLM', names: ['litellm'] }, warn)
}

/** `program` is what `findLiteLlm` found. @throws Error with its log when it does not start within two minutes */
export async function startLiteLlm(program: string, models: readonly LiteLlmModel[]): Promise<LiteLlm> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-litellm-'))
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(writeConfig(models)))
  const port = await findFreePort()
  const words = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False']
  const variables = {
    HOME: folder,
    LITELLM_MASTER_KEY: KEY,
    // Its list of prices comes with the package; nothing is fetched.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    NO_COLOR: '1',
  }
  const command = startCommand(program, { words, folder, variables })
  let isOver = false
  const ended = command.ended.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  const close = async (): Promise<void> => {
    command.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const deadline = performance.now() + STARTING_MS
  while (!(await isReady(port))) {
    if (isOver || performance.now() > deadline) {
      await close()
      throw new Error(`LiteLLM’s proxy does not start; it said: ${command.output()}${command.errors()}`)
    }
    await wait(LOOK_EVERY_MS)
  }
  return { url: `http://127.0.0.1:${port}/v1`, key: KEY, close }
}

/** JSON is YAML as well. */
function writeConfig(models: readonly LiteLlmModel[]): object {
  return {
    model_list: models.map(({ name, model, baseUrl, apiKey }) => ({
      model_name: name,
      litellm_params: { model, api_base: baseUrl, api_key: apiKey },
    })),
    // Baton tries again by itself, and says so in the log: once, at the time that the server named.
    litellm_settings: { num_retries: 0, request_timeout: 60, drop_params: true },
    router_settings: { num_retries: 0, disable_cooldowns: true },
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/readiness`, { signal: AbortSignal.timeout(2000) })).ok
  } catch {
    return false
  }
}
