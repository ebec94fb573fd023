// LiteLLM's proxy, an independent OpenAI-compatible server, on a free port of the loopback interface. BATON_LITELLM
// names its command, or it is on the PATH; install it with `pip install 'litellm[proxy]'`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../components/free-port.ts'
import { findProgram } from '../components/program.ts'
import { startCommand } from '../components/start-command.ts'

/** A name that the proxy offers, and the server behind it. */
export interface LiteLlmModel {
  readonly name: string
  /** `anthropic/claude-sonnet-4-5`: LiteLLM's provider and the model it requests there. */
  readonly model: string
  /** Address of the server behind the proxy. */
  readonly baseUrl: string
  readonly apiKey: string
}

export interface LiteLlm {
  /** Value for OPENAI_BASE_URL. */
  readonly url: string
  /** The only key that the proxy accepts. */
  readonly key: string
  close(): Promise<void>
}

const KEY = 'sk-the-master-key-of-this-test-proxy-7f3a'
const STARTING_MS = 120_000
const LOOK_EVERY_MS = 200

/**
 * Returns the path of the command, or `undefined` if there is none; `warn` then receives what will not be tested.
 * @throws Error if BATON_LITELLM does not name an executable file, or if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findLiteLlm(what: string, warn: (message: string) => void): string | undefined {
  return findProgram(what, { title: 'LiteLLM', variable: 'BATON_LITELLM', names: ['litellm'] }, warn)
}

/** `program` comes from `findLiteLlm`. @throws Error with its log if it does not start within two minutes */
export async function startLiteLlm(program: string, models: readonly LiteLlmModel[]): Promise<LiteLlm> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-litellm-'))
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(writeConfig(models)))
  const port = await findFreePort()
  const words = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False']
  const variables = {
    HOME: folder,
    LITELLM_MASTER_KEY: KEY,
    // Its price list comes with the package; nothing is fetched.
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
      throw new Error(`LiteLLM’s proxy did not start; its output: ${command.output()}${command.errors()}`)
    }
    await wait(LOOK_EVERY_MS)
  }
  return { url: `http://127.0.0.1:${port}/v1`, key: KEY, close }
}

/** JSON is valid YAML. */
function writeConfig(models: readonly LiteLlmModel[]): object {
  return {
    model_list: models.map(({ name, model, baseUrl, apiKey }) => ({
      model_name: name,
      litellm_params: { model, api_base: baseUrl, api_key: apiKey },
    })),
    // Baton itself retries once, at the time named by the server, and logs it.
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
