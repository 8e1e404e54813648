# One image for every process type; the command says which (see Procfile and docker-compose.yml).

FROM node:22.23.3-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/embedded-mongo/package.json packages/embedded-mongo/
COPY packages/console/package.json packages/console/
COPY packages/client-node/package.json packages/client-node/
RUN npm ci
COPY . .
RUN npm run build

FROM node:22.23.3-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/embedded-mongo/package.json packages/embedded-mongo/
COPY packages/console/package.json packages/console/
COPY packages/client-node/package.json packages/client-node/
# The embedded database is for development: its packages stay out.
RUN npm ci --omit=dev --workspaces=false

FROM node:22.23.3-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
# npm run topup, as everywhere.
COPY scripts/topup.mjs scripts/prepare.mjs scripts/
COPY config config
COPY docs docs
# What /docs/clients serves beside dist/clients.
COPY clients clients
COPY packages/client-node/quick-start.mjs packages/client-node/
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/server.js"]
