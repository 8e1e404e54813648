import { getWallet } from '../../money/wallets/balance-of.js';
import Joi from 'joi';
import { whileMongoAnswers } from '../patience.js';
import { defineResellerOperation } from './reseller-operation.js';
import { say } from '../../shared/say.js';

export const getResellerBalance = defineResellerOperation({
  id: 'getResellerBalance',
  path: '/api/reseller/balance',
  summary: 'Wallet balance',
  description: 'sign: HMAC-SHA256(api_key, "username|depo"), or md5(username + api_key + "depo").',
  query: Joi.object({}),
  answer: {
    balance: Joi.number().required(),
    currency: Joi.string().valid('IDR').required(),
  },
  signed: () => ({ md5Covers: 'depo', hmacCovers: 'depo' }),
  async handle({ account }) {
    const { balance } = await whileMongoAnswers(getWallet(account._id));
    return { status: '00', message: say('success'), balance, currency: 'IDR' };
  },
});
