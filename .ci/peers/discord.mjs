// Starts discord-digital-twin behind the port of the first argument, with what its users do and see under /users/
// and the files that they attach under /files/: the bot fetches files from where it finds Discord and nowhere else.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

const peers = createRequire(`${process.env.BELLHOP_PEERS}/`)
const load = (name) => import(pathToFileURL(peers.resolve(name)))
const { DigitalDiscord, generateSnowflake } = await load('discord-digital-twin')
const { ChannelType } = await load('discord-api-types/v10')

const port = Number(process.argv[2])
const [olga, general, direct] = [generateSnowflake(), generateSnowflake(), generateSnowflake()]
const discord = new DigitalDiscord({
  guild: { name: 'Harbour' },
  channels: [{ id: general, name: 'general', type: ChannelType.GuildText }],
  users: [{ id: olga, username: 'olga' }],
  botUser: { username: 'bellhop' },
  botToken: 'peer',
})

// On Discord a thread has the id of the message that it was opened from; the peer gives it one of its own.
const threads = new Map()
const rename = (value) => {
  if (typeof value === 'string') return threads.get(value) ?? value
  if (Array.isArray(value)) return value.map(rename)
  if (value?.constructor !== Object) return value
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, rename(v)]))
}
discord.prisma = discord.prisma.$extends({
  query: {
    $allOperations({ model, operation, args, query }) {
      const { id, starterMessageId } = args?.data ?? {}
      if (model === 'Channel' && operation === 'create' && starterMessageId) threads.set(id, starterMessageId)
      return query(rename(args))
    },
  },
})
await discord.start()
await discord.prisma.channel.create({ data: { id: direct, type: ChannelType.DM } })

const files = new Map()
const attach = ({ name, type, data }) => {
  const id = generateSnowflake()
  files.set(`/files/${id}/${name}`, Buffer.from(data, 'base64'))
  const url = `http://127.0.0.1:${port}/files/${id}/${name}`
  return { id, filename: name, content_type: type, size: files.get(`/files/${id}/${name}`).length, url, proxy_url: url }
}

const as = (channel) => discord.channel(channel).user(olga)
const acts = {
  info: () => ({ olga, general, direct, bot: discord.botUserId }),
  read: ({ channel }) => discord.channel(channel).getMessages(),
  say: ({ channel, text, file }) => as(channel).sendMessage({ content: text, attachments: file && [attach(file)] }),
  edit: ({ channel, message, text }) => as(channel).editMessage({ messageId: message, content: text }),
  commands: () => discord.prisma.applicationCommand.count(),
  // Nobody can give a command that is not published.
  command: async ({ channel, name }) => {
    await discord.prisma.applicationCommand.findFirstOrThrow({ where: { name } })
    return as(channel).runSlashCommand({ name })
  },
  press: ({ channel, message, button }) => as(channel).clickButton({ messageId: message, customId: button }),
}

// The peer takes commands and does not tell them again.
const commands = async () =>
  (await discord.prisma.applicationCommand.findMany()).map((c) => ({ ...c, options: JSON.parse(c.options) }))

const [serve] = discord.server.httpServer.listeners('request')
createServer(async (req, res) => {
  try {
    if (files.has(req.url)) return res.end(files.get(req.url))
    if (req.method === 'GET' && /\/applications\/\d+\/commands$/.test(req.url)) return res.end(JSON.stringify(await commands()))
    if (!req.url.startsWith('/users/')) return serve(req, res)
    const act = acts[req.url.slice('/users/'.length)]
    res.end(JSON.stringify((await act(JSON.parse((await text(req)) || '{}'))) ?? null))
  } catch (err) {
    res.writeHead(500).end(String(err.stack))
  }
}).listen(port, '127.0.0.1')
