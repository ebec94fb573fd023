// Which names are hidden: keys, tokens, passwords and histories, in any folder and as any copy, but no ordinary source.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { isProtected } from './protected-names.ts'

const NAMES: readonly string[] = `
.env .env.local .env.production prod.env .envrc .env~ .env.bak config/.env.test
id_rsa id_dsa id_ecdsa id_ed25519 id_ed25519_sk id_rsa.bak id_rsa.old id_rsa~ .id_rsa.swp #id_rsa# id_ed25519.1 identity keys/id_rsa.gz
server.pem server.key privkey.pem server.pem.bak server.key.old key.pem.orig tls.key.save cert.p12 cert.pfx cert.p8 key.ppk store.jks
store.keystore release.keystore app.jceks vault.kdbx passwords.kdb backup.gpg backup.pgp notes.age home.ovpn login.keychain login.keychain-db
ssh_host_rsa_key ssh_host_ed25519_key .ssh/config .ssh/known_hosts .ssh/authorized_keys .gnupg/secring.gpg .gnupg/trustdb.gpg
.aws/credentials .aws/config .azure/accessTokens.json .gcloud/credentials.db .oci/config .kube/config kubeconfig kubeconfig.yaml prod-kubeconfig
kube.config kube-config.yml dev.kubeconfig .docker/config.json .dockercfg .dockerconfigjson .minikube/profiles/client.crt .chef/user.rb
.config/gh/hosts.yml .config/hub .config/gcloud/access_tokens.db .config/rclone/rclone.conf .config/op/config .config/doctl/config.yaml
.config/stripe/config.toml .config/heroku/netrc .config/solana/id.json .config/git/credentials home/ann/.config/gh/hosts.yml .cargo/credentials
.cargo/credentials.toml .gem/credentials .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .bundle/config .subversion/auth/svn.simple/1
.terraform.d/credentials.tfrc.json .terraformrc terraform.rc prod.tfvars prod.auto.tfvars prod.tfvars.json terraform.tfstate terraform.tfstate.backup .databrickscfg
.npmrc .pypirc .netrc _netrc .netrc.gpg .authinfo .authinfo.gpg .git-credentials .git/config .pgpass pgpass.conf .my.cnf .mylogin.cnf .htpasswd htpasswd
.boto .s3cfg .vault-token .vault_pass vault-password.txt .ftpconfig .fetchmailrc .msmtprc .muttrc .snowsql .remote-sync.json sftp.json sftp-config.json
auth.json .composer/auth.json .codex/auth.json auth.json.bak robomongo.json recentservers.xml sitemanager.xml .idea/dataSources.local.xml .idea/webServers.xml
credentials credentials.json credentials.yml credentials.yml.enc aws-credentials.csv my_credentials.json secrets.json secrets.yml secrets.toml secret.txt
client_secret.json client_secret_123.apps.json client-secret.json service-account.json service_account.json service-account-prod.json serviceaccount.json
gcp-key.json application_default_credentials.json myapp-firebase-adminsdk-ab12.json google-services.json GoogleService-Info.plist token.json access_token
access-tokens.json api_key.txt apikeys.json api-key.json refresh_token.json auth_token password.txt passwords.csv passwords.txt db-password.txt passwd shadow
.bash_history .zsh_history .sh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .irb_history
.pry_history fish_history .history .histfile .lesshst .viminfo ConsoleHost_history.txt .bash_history.bak
.mozilla/firefox/x/prefs.js logins.json key4.db cookies.txt cookies.sqlite wallet.dat .bitcoin/peers.dat .electrum/config Library/Keychains/login.keychain-db
.local/share/keyrings/login.keyring .password-store/mail.gpg .purple/accounts.xml wp-config.php wp-config.php.bak LocalSettings.php tnsnames.ora master.key
app.mobileprovision my.publishsettings config.secret app.secrets deploy.credentials .rclone.conf
`
  .trim()
  .split(/\s+/)

test('names of keys, tokens, passwords and histories are protected, in any case', () => {
  const readable = NAMES.flatMap((name) => [name, name.toUpperCase(), `a/b/${name}`]).filter(
    (name) => !isProtected(name, false),
  )
  console.log(`names: ${NAMES.length} tested, ${new Set(readable).size} readable`)
  expect(readable).toEqual([])
  expect(new Set(NAMES).size).toBeGreaterThanOrEqual(118)
})

const ORDINARY: readonly string[] = `
index.ts main.py secrets.ts credentials.go password-field.tsx token.ts tokens.json tokenizer.json tokenizer_config.json auth.ts auth.py keys.ts key.ts
keyboard.ts keystore.ts env.ts environment.ts env.d.ts config.json settings.json package.json package-lock.json docker-compose.yml Dockerfile
.gitignore .gitattributes .editorconfig .prettierrc .nvmrc .dockerignore .github/workflows/ci.yml .vscode/settings.json history.ts history.md
HISTORY.md CHANGELOG.md access.log access-control.md api-keys.md docs/secrets.md docs/credentials.md passwords.md LICENSE Makefile
id.ts idle.ts identity.ts shadow.css shadow-dom.ts cookies.ts wallet.ts public.pub cert.crt kube.ts kubeconfig.go service-account.ts
hosts.yml notes.tmp a.bak main.ts.orig data.csv data.1 backup.sql.gz archive.zip .config/nvim/init.lua .cargo/config.toml .m2/readme.md
`
  .trim()
  .split(/\s+/)

test('ordinary names stay readable', () => {
  expect(ORDINARY.filter((name) => isProtected(name, false))).toEqual([])
})

test('no file of this repository is hidden by its name', () => {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8', cwd: import.meta.dirname })
    .trim()
    .split('\n')
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter((file) => isProtected(file, false))).toEqual([])
})
