/** `node dist/scripts/migrate.js`: creates collections and indexes. Run before each release (Procfile `release`). */
import '../src/all-models.js';
import { connectMongo, disconnectMongo } from '../src/database/mongo.js';
import { migrate } from '../src/database/migrate.js';

await connectMongo();
await migrate();
await disconnectMongo();
console.log('Collections and indexes are ready.');
