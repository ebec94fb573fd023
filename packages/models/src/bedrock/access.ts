// Resolves Bedrock credentials and region from AWS variables. Variables are passed in and the environment is never read
// here, except by AWS's own credential provider chain, which is used if one of its variables is set.
import { BatonError, importPeer, loadOnce } from '@baton/core/internal'
import type { AwsCredentialProvider, AwsCredentials } from './sign.ts'

type Variables = Readonly<Record<string, string | undefined>>

export interface BedrockAccess {
  readonly region: string
  readonly apiKey?: string
  readonly credentials?: AwsCredentials | AwsCredentialProvider
}

const DEFAULT_REGION = 'us-east-1'
const KEYS = 'AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'

/** Variables that point to credentials elsewhere: a file, a token, the machine. */
const CHAIN_VARIABLES: readonly string[] = [
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
]

/**
 * Prefers a Bedrock key over AWS credentials.
 * @throws BatonError `model_not_configured` if there are no credentials, `invalid_option` if the region is invalid
 */
export function findBedrockAccess(id: string, variables: Variables): BedrockAccess {
  const value = (name: string) => variables[name]?.trim() || undefined
  const region = value('AWS_REGION') ?? value('AWS_DEFAULT_REGION') ?? DEFAULT_REGION
  if (!/^[a-z]+(-[a-z0-9]+)+$/.test(region))
    throw new BatonError({
      code: 'invalid_option',
      message: `AWS_REGION must be a region such as us-east-1, not "${region.slice(0, 40)}"`,
    })
  const apiKey = value('AWS_BEARER_TOKEN_BEDROCK')
  if (apiKey !== undefined) return { region, apiKey }
  const accessKeyId = value('AWS_ACCESS_KEY_ID')
  const secretAccessKey = value('AWS_SECRET_ACCESS_KEY')
  const sessionToken = value('AWS_SESSION_TOKEN')
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return {
      region,
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    }
  // On an AWS machine, the chain is used only if the variables explicitly allow its metadata service.
  const usesChain = CHAIN_VARIABLES.some((name) => value(name)) || value('AWS_EC2_METADATA_DISABLED') === 'false'
  if (usesChain) return { region, credentials: createChain() }
  throw new BatonError({
    code: 'model_not_configured',
    message: `the model ${id} needs credentials; set ${KEYS}, or use the model "offline"`,
  })
}

/** AWS's credential chain, loaded on first use so that only its users have to install it. */
function createChain(): AwsCredentialProvider {
  const load = loadOnce(async () => {
    const { defaultProvider } = await importPeer(
      '@aws-sdk/credential-provider-node',
      'an AWS profile or role',
      () => import('@aws-sdk/credential-provider-node'),
      'model_not_configured',
    )
    return defaultProvider()
  })
  return async () => (await load())()
}
